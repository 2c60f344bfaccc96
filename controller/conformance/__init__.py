"""The conformance kit: shows whether a pit keeps the contract, from messages on the wire alone.

`table-controller-conformance` plays tables at a running pit, whoever wrote that pit. The kit needs a broker, and a
person or a command that adopts its tables. It uses nothing of the pit's inside. Every clause of the contract that a pit
must keep has a number (`controller/contract/asyncapi.json`, `x-clauses`), one check here, and one line in the report.
"""
