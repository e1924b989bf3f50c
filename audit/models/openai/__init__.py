"""`openai/MODEL`: models behind an OpenAI-compatible endpoint. The one home of the `openai` package."""
