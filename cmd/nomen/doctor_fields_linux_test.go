package main

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"testing"
)

// frontAddress is the address of a front whose server sees it: on Linux, all of 127.0.0.0/8
// belongs to the machine.
const frontAddress = "127.0.0.2"

// throughFront passes a connection on from [frontAddress], after it has changed the request.
func throughFront(change func(*http.Request)) func(client, server net.Conn) {
	return func(client, server net.Conn) {
		req, err := http.ReadRequest(bufio.NewReader(client))
		if err != nil {
			return
		}
		change(req)
		dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(frontAddress)}}
		own, err := dialer.Dial("tcp", server.RemoteAddr().String())
		if err != nil {
			return
		}
		defer own.Close()
		fmt.Fprintf(own, "GET %s HTTP/1.1\r\nHost: %s\r\n", req.RequestURI, req.Host)
		_ = req.Header.Write(own)
		_, _ = io.WriteString(own, "Connection: close\r\n\r\n")
		_, _ = io.Copy(client, own)
	}
}

// TestDoctorOfFields checks what doctor says about the fields that a proxy sends and passes on.
func TestDoctorOfFields(t *testing.T) {
	t.Parallel()
	const (
		noAddress = "problem client address: the server takes a proxy for the client: requests from 127.0.0.1 seem to come from 127.0.0.2, so that all clients share one limit; name the address of the proxy in trusted-proxy"
		noClaim   = "problem client address: clients can choose the address that the server sees"
		noHost    = "problem client address: clients can choose the host that the server sees"
		anonymous = "problem client address: clients that send the fields Forwarded or X-Forwarded-For are anonymous"
		all       = "problem client address: all clients are anonymous"
		otherHost = "arrive for the host backend.example;"
	)
	replace := func(r *http.Request) {
		r.Header.Set("X-Forwarded-For", "127.0.0.1")
		r.Header.Set("X-Forwarded-Host", r.Host)
		r.Header.Del("Forwarded")
	}
	for name, c := range map[string]struct {
		change func(*http.Request)
		trust  string
		want   []string
	}{
		"right":         {replace, frontAddress + "/32", nil},
		"not trusted":   {replace, "192.0.2.0/24", []string{noAddress}},
		"passes fields": {func(*http.Request) {}, frontAddress + "/32", []string{noAddress, noClaim, noHost}},
		"appends": {func(r *http.Request) {
			claimed := r.Header.Get("X-Forwarded-For")
			replace(r)
			r.Header.Set("X-Forwarded-For", claimed+", 127.0.0.1")
		}, frontAddress + "/32", nil},
		"passes Forwarded": {func(r *http.Request) {
			passed := r.Header["Forwarded"]
			replace(r)
			r.Header["Forwarded"] = passed
		}, frontAddress + "/32", []string{anonymous}},
		"passes X-Forwarded-Host": {func(r *http.Request) {
			passed := r.Header["X-Forwarded-Host"]
			replace(r)
			r.Header["X-Forwarded-Host"] = passed
		}, frontAddress + "/32", []string{noHost}},
		"sends two addresses": {func(r *http.Request) {
			replace(r)
			r.Header.Set("Forwarded", "for=192.0.2.9")
		}, frontAddress + "/32", []string{all}},
		"sends another host": {func(r *http.Request) {
			replace(r)
			r.Host = "backend.example"
			r.Header.Del("X-Forwarded-Host")
		}, frontAddress + "/32", []string{otherHost}},
		"sends its address as host": {func(r *http.Request) {
			replace(r)
			r.Host = "127.0.0.2:4500"
			r.Header.Del("X-Forwarded-Host")
		}, frontAddress + "/32", nil},
		"is trusted like this machine": {func(*http.Request) {}, "127.0.0.0/8", []string{noAddress}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFront(t, throughFront(c.change))
			data := t.TempDir()
			p := start(t, data, "--public-url", f.url, "--trusted-proxy", c.trust)
			f.target <- p.public
			lines, _ := examined(t, "--data", data, "--public-url", f.url, "--trusted-proxy", c.trust)
			expect(t, lines, append(c.want, "warning backups")...)
		})
	}
}
