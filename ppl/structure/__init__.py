"""What is independent given what: rewritings of programs by the terms of their target and what each reads."""
