"""Studies of choices: compare what Lull chooses with every fixed choice and with the model's predictions."""
