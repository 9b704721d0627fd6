//go:build !unix

package client

import "net"

// quiet returns a function that always reports true, since this system cannot peek at an idle
// connection.
func quiet(net.Conn) func() bool { return func() bool { return true } }
