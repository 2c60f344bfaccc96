"""The conformance kit: shows whether a pit or a table keeps the contract, from messages on the wire alone.

`table-controller-conformance` plays tables at a running pit, or a pit at a running table, whoever wrote that program.
The kit needs a broker, and a person or commands for what people do. The kit uses nothing of the program's inside. Every
clause of the contract has a number (`controller/contract/asyncapi.json`, `x-clauses`), one check here, and one line in
the report.
"""
