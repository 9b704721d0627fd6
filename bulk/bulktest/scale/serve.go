//go:build unix

package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"syscall"
	"time"
)

var listening = regexp.MustCompile(`public listener at ([^\s"]+)`)

// serve drops the file cache, starts a server of the store, and requests all samples over one
// connection.
func (r *run) serve(ctx context.Context) (err error) {
	data, err := os.MkdirTemp("", "scale")
	if err != nil {
		return err
	}
	defer os.RemoveAll(data)
	r.forget()
	cmd := exec.CommandContext(ctx, r.nomen, "serve", "--data", data, "--store", "pebble:"+r.dir,
		"--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0", "--no-access-log")
	said, err := cmd.StderrPipe()
	if err != nil {
		return err
	}
	began := time.Now()
	if err := cmd.Start(); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, cmd.Process.Signal(syscall.SIGTERM), cmd.Wait()) }()
	address := ""
	lines := bufio.NewScanner(said)
	for address == "" && lines.Scan() {
		if m := listening.FindStringSubmatch(lines.Text()); m != nil {
			address = m[1]
		}
	}
	go func() { _, _ = io.Copy(io.Discard, said) }() // otherwise the server would block on its output
	if address == "" {
		return fmt.Errorf("%s does not listen", r.nomen)
	}
	if err := ask(ctx, address, r.names[0].Key()); err != nil {
		return err
	}
	pid := strconv.Itoa(cmd.Process.Pid)
	fmt.Printf("server, from its start to its first answer: %.1f ms; memory %s\n", seconds(began)*1e3, statusOf(pid, "VmRSS"))
	for _, pass := range []string{"cold", "warm"} {
		times := make([]time.Duration, 0, len(r.names))
		for _, n := range r.names[1:] {
			start := time.Now()
			if err := ask(ctx, address, n.Key()); err != nil {
				return err
			}
			times = append(times, time.Since(start))
		}
		slices.Sort(times)
		fmt.Printf("%d requests to the server, %s: p50 %v, p99 %v; memory %s\n",
			len(times), pass, times[len(times)/2], times[len(times)*99/100], statusOf(pid, "VmRSS"))
	}
	return nil
}

func ask(ctx context.Context, address, key string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+"/"+key, nil)
	if err != nil {
		return err
	}
	resp, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, resp.Body)
	if err := errors.Join(err, resp.Body.Close()); err != nil {
		return err
	}
	if resp.StatusCode >= http.StatusBadRequest {
		return fmt.Errorf("%s: %s", key, resp.Status)
	}
	return nil
}
