"""Tests of `codeaudit.audit.nets.decoder`."""
