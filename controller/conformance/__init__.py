"""The conformance kit: shows whether a pit keeps the contract, over the wire alone.

`table-controller-conformance` plays tables at a pit that runs, whoever wrote it. The kit needs a broker, a person or a
command that adopts its tables, and nothing of the pit's inside. Every clause of the contract that is the pit's to keep
has a number (`controller/contract/asyncapi.json`, `x-clauses`), one check here, and one line in the report.
"""
