//go:build !linux

package wire

import "net"

// ListenConfig returns a configuration of listeners whose connections have the usual TCP keep-alive
// of package net.
func ListenConfig() net.ListenConfig { return net.ListenConfig{} }
