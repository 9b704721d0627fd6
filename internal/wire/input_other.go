//go:build !unix

package wire

import "net"

// hasInput returns false, because this system does not tell whether bytes have arrived.
func hasInput(net.Conn) bool { return false }
