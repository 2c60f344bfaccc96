"""The wires: MQTT, held to what a broker may do, over TLS; and a control socket's callers."""
