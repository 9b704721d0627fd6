//go:build !unix

package client

import "net"

// quiet returns a function that returns true, because this system cannot examine an idle connection
// without blocking.
func quiet(net.Conn) func() bool { return func() bool { return true } }
