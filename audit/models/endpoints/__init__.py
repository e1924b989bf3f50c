"""Models behind an endpoint, for every provider: concurrency, retries, throttle, cost meter, credentials.

A provider writes an `EndpointClient` (sends one request) and describes its `Endpoint`; `EndpointModel` does
the rest. `openai/MODEL` is the first user. This package knows no API and no client library.
"""
