"""The planning arithmetic of the handbook: one module a step of the plan, standard library only."""
