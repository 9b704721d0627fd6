//go:build !unix

package wire

import "net"

// hasInput returns false: it is unknown whether bytes have arrived.
func hasInput(net.Conn) bool { return false }
