package registrar

// DefaultSchemes returns the schemes that a location may have.
func DefaultSchemes() []string { return nil }
