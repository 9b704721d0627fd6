package adminapi

import (
	"context"
	"net/http"
	"time"
)

// A SignInLink is the response to POST users/{id}/sign-in-link.
type SignInLink struct {
	URL   string    `json:"url"`   // valid once
	Until time.Time `json:"until"` // when it ends
}

// SignInLink makes a link with which anyone can sign in as the user with this ID, once.
func (c *Client) SignInLink(ctx context.Context, id string) (SignInLink, error) {
	return request[SignInLink](ctx, c, http.MethodPost, userPath(id)+"/sign-in-link", nil, nil)
}

// EndSessions signs the user with this ID out of the pages, everywhere.
func (c *Client) EndSessions(ctx context.Context, id string) error {
	_, err := c.call(ctx, http.MethodDelete, userPath(id)+"/sessions", nil, nil, nil)
	return err
}
