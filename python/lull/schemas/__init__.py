"""What commands print as JSON: the model of each output, and its JSON Schema."""
