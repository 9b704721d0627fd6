//go:build !race

package server

const racing = false
