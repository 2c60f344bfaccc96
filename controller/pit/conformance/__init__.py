"""The conformance kit: a program that tests whether a pit or a table keeps the contract between them, from their MQTT
messages alone.

The command is `table-controller-conformance`. To test a running pit, the kit acts as tables. To test a running table,
the kit acts as a pit. The pit or table may be anybody's program, because the kit uses nothing of its inside. The kit
needs an MQTT broker. For what people do, such as paying an award, the kit runs commands or asks a person. Every clause
(a numbered rule) of the contract has a check here and a line in the report. The clauses are in
`controller/contract/asyncapi.json` under `x-clauses`.
"""
