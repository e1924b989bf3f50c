"""`openai/MODEL`: models behind an OpenAI-compatible endpoint. Only this package imports `openai`."""
