"""The contract's wire: MQTT, held to what a broker may do, over TLS."""
