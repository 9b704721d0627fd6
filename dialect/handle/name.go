package handle

import (
	"github.com/nomen-project/nomen/internal/hdl"
	"github.com/nomen-project/nomen/name"
)

// nameOf returns the name of a handle. For a handle outside the scope of the dialect, it returns an
// error with the code 301.
func (s *Server) nameOf(handle string) (name.Name, error) {
	if handle == "" {
		return name.Name{}, failed(codeInvalidHandle, "Empty handle invalid")
	}
	var first error
	for _, scheme := range hdl.Schemes(handle) {
		n, err := name.Parse(scheme + hdl.Escape(handle))
		if err == nil && s.scope.Covers(n) {
			return n, nil
		}
		if first == nil {
			first = err
		}
	}
	if first != nil {
		return name.Name{}, failed(codeInvalidHandle, "Invalid handle")
	}
	return name.Name{}, failed(codeNotHere, "this server is not responsible for the handle")
}
