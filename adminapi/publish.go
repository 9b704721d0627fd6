package adminapi

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/store"
)

// Maximum lengths of files of the published log, in bytes.
const (
	maxReceipt = 1 << 20
	maxLogFile = 32 << 20
)

// Receipt returns the receipt for the revision of a name at a time, or for the current revision if
// the time is zero. The receipt includes the whole content of the revision.
func (c *Client) Receipt(ctx context.Context, n name.Name, at time.Time) ([]byte, error) {
	q := url.Values{}
	setTime(q, "at", at)
	return c.file(ctx, namePath(n)+"/receipt", q, maxReceipt)
}

// Checkpoint returns the newest published checkpoint, without verifying it.
func (c *Client) Checkpoint(ctx context.Context) ([]byte, error) {
	return c.file(ctx, "log/checkpoint", nil, maxReceipt)
}

// ReadTile returns a file of the published log. The error is [fs.ErrNotExist] if the file does not
// exist, and [fs.ErrPermission] if the server does not disclose it.
func (c *Client) ReadTile(ctx context.Context, path string) ([]byte, error) {
	data, err := c.file(ctx, "log/"+path, nil, maxLogFile)
	var status *StatusError
	switch {
	case errors.As(err, &status) && status.Status == http.StatusForbidden:
		return nil, fmt.Errorf("%w: %s", fs.ErrPermission, status.Detail)
	case errors.As(err, &status) && status.Status == http.StatusNotFound, errors.Is(err, store.ErrNotFound):
		return nil, fmt.Errorf("%w: %s", fs.ErrNotExist, strings.TrimSpace(path))
	}
	return data, err
}

// file returns the body of a response that is not JSON. It returns an error if the body has more
// than limit bytes.
func (c *Client) file(ctx context.Context, path string, q url.Values, limit int64) ([]byte, error) {
	resp, err := c.send(ctx, http.MethodGet, path, q, nil, "")
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(io.LimitReader(resp.Body, limit+1))
	if err == nil && int64(len(data)) > limit {
		err = fmt.Errorf("adminapi: the response to %s is longer than %d bytes", path, limit)
	}
	return data, err
}
