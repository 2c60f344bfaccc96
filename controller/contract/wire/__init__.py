"""The connections of the programs: MQTT over TLS, with bounds on what a broker may do, and local control sockets."""
