"""Studies of choices: what Lull takes by itself, what each fixed choice costs, and what was predicted of it."""
