"""The conformance kit: a program that tests whether a pit or a table keeps the contract between them, from their MQTT
messages alone.

`table-controller-conformance` plays tables against a running pit, or a pit against a running table, whoever wrote that
pit or table. The kit needs an MQTT broker, and a person or commands for what people do, such as paying an award. The
kit uses nothing of the inside of the program that it tests. Every clause (a numbered rule) of the contract has a check
here and a line in the report. The clauses are in `controller/contract/asyncapi.json` under `x-clauses`.
"""
