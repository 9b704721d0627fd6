package main

import (
	"net"
	"strconv"
)

// An addressValue is the value of an option for the address of a listener. If the user specifies
// only a port, host is the host of the address.
type addressValue struct {
	value *string
	host  string // "" for all addresses of the machine
}

func newAddress(value *string, byDefault, host string) *addressValue {
	*value = byDefault
	return &addressValue{value, host}
}

func (a *addressValue) String() string { return *a.value }
func (a *addressValue) Type() string   { return "string" }

func (a *addressValue) Set(text string) error {
	if _, err := strconv.ParseUint(text, 10, 16); err == nil {
		text = net.JoinHostPort(a.host, text)
	}
	*a.value = text
	return nil
}
