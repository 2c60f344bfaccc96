# A table in another language: it reads a BeeTek's cards, lights lamps, and tells a pit what it waits for.
use strict; use warnings; use IO::Socket::INET;
open my $shoe, '<:raw', $ENV{BENCH_SHOE} or die "no shoe: $!";
open my $pins, '+<:raw', $ENV{BENCH_PINS_PAGE} or die "no header: $!";
my $broker = IO::Socket::INET->new($ENV{BENCH_BROKER}) or die "no broker: $!";

sub byte { my ($place, $value) = @_; sysseek $pins, $place, 0; syswrite $pins, chr $value }
sub light { my $bcm = $ENV{"BENCH_LAMP_\U$_[0]"}; byte(64 + $bcm, 1); byte(128 + $bcm, 2) }  # level 1, an output
sub text { pack 'n/a*', $_[0] }
sub packet { my ($kind, $body) = @_; my $long = length $body;                       # MQTT 3.1.1
    syswrite $broker, chr($kind) . ($long < 128 ? chr $long : chr($long % 128 | 128) . chr($long >> 7)) . $body }
sub say_state { my ($round, $fault) = @_; my ($name, $none) = ($ENV{BENCH_TABLE}, '0' x 64);  # a real table has digests
    packet(0x31, text("pit/v1/$name/state") . qq({"online":true,"table":"$name","epoch":"perl","boot":1,"contract":4,
        "version":"perl","program_digest":"$none","config_digest":"$none","digest":"$none","public_key":"$none",
        "phase":"card_due","shoe":1,"round":$round,"next_round":null,"fault":$fault,"meters":[],"pit":"well",
        "links":{"shoe":true,"journal":true},"head_seq":0,"unacknowledged":0,"oldest_unacknowledged_at":null,
        "broker":"$ENV{BENCH_BROKER}"})) }

packet(0x10, text('MQTT') . "\x04\x02\0\0" . text($ENV{BENCH_TABLE}));
say_state(my $cards = 1, 'null');
while (<$shoe>) {
    my ($told, $check) = /^\*(0D[0-3][1-9A-D])([0-9A-F]{2})\r\n$/;
    my $sound = $told && hex $check == unpack '%8C*', $told;
    light($sound ? $cards++ % 2 ? 'draw_player' : 'draw_banker' : 'fault');
    say_state($cards, $sound ? 'null' : '"bad_line"');
}
