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

// lines requests JSON Lines and yields them.
func lines[T any](ctx context.Context, c *Client, path string, q url.Values) iter.Seq2[T, error] {
	return streamed[T](ctx, c, http.MethodGet, path, q, nil)
}

// streamed yields the lines of a response as they arrive, with one at a time in memory.
func streamed[T any](ctx context.Context, c *Client, method, path string, q url.Values, body io.Reader) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var zero T
		resp, err := c.send(ctx, method, path, q, body, "application/json")
		if err != nil {
			yield(zero, err)
			return
		}
		defer resp.Body.Close()
		readLines[T](path, resp.Body)(yield)
	}
}

// readLines yields the lines of a response.
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
