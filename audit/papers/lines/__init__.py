"""How functions become lines of words, and the network trunk that reads them: for all papers that do."""
