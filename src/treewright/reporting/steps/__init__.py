"""The steps of a report, in order; each is a function from earlier results to a plain result.

understand → hold_out → compare → choose → prune → judge → explain → write
"""
