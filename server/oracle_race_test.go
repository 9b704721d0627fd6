//go:build race

package server

const racing = true
