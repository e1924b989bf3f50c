"""Writes reports in a format, one module per format. All texts come from `reports.wording` and
`reports.sheets`.
"""
