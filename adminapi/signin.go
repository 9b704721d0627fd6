package adminapi

import (
	"context"
	"net/http"
	"time"
)

// A SignInLink is the response to POST users/{id}/sign-in-link.
type SignInLink struct {
	URL   string    `json:"url"`   // valid once
	Until time.Time `json:"until"` // end of validity
}

// SignInLink makes a link that signs anyone who opens it in as the user with this ID. The link can
// be used once.
func (c *Client) SignInLink(ctx context.Context, id string) (SignInLink, error) {
	return request[SignInLink](ctx, c, http.MethodPost, userPath(id)+"/sign-in-link", nil, nil)
}

// EndSessions ends all sessions of the user with this ID.
func (c *Client) EndSessions(ctx context.Context, id string) error {
	_, err := c.call(ctx, http.MethodDelete, userPath(id)+"/sessions", nil, nil, nil)
	return err
}
