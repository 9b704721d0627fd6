package adminapi

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/url"
)

// maxLine is the maximum length of a line in a response, in bytes. A record of maximum size has at
// most this length even if all bytes are escaped.
const maxLine = 8 << 20

// lines requests JSON Lines and yields each value as soon as its line arrives.
func lines[T any](ctx context.Context, c *Client, path string, q url.Values) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var zero T
		resp, err := c.send(ctx, http.MethodGet, path, q, nil, "")
		if err != nil {
			yield(zero, err)
			return
		}
		defer resp.Body.Close()
		readLines[T](path, resp.Body)(yield)
	}
}

func readLines[T any](path string, r io.Reader) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var zero T
		scan := bufio.NewScanner(r)
		scan.Buffer(nil, maxLine)
		for scan.Scan() {
			var v T
			if err := json.Unmarshal(scan.Bytes(), &v); err != nil {
				yield(zero, fmt.Errorf("adminapi: %s: %w", path, err))
				return
			}
			if !yield(v, nil) {
				return
			}
		}
		if err := scan.Err(); err != nil {
			yield(zero, fmt.Errorf("adminapi: %s: the response was truncated: %w", path, err))
		}
	}
}

// converted applies convert to the values of seq and yields the results. It ends after the first
// error.
func converted[T, U any](seq iter.Seq2[T, error], convert func(T) (U, error)) iter.Seq2[U, error] {
	return func(yield func(U, error) bool) {
		for v, err := range seq {
			var u U
			if err == nil {
				u, err = convert(v)
			}
			if !yield(u, err) || err != nil {
				return
			}
		}
	}
}
