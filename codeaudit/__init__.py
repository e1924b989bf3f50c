"""Audits code models: does the answer change when the code's meaning does not?"""
