//go:build !unix

package client

import "net"

// quiet returns a function for an idle connection of which it cannot be told
// whether something has come.
func quiet(net.Conn) func() bool { return func() bool { return true } }
