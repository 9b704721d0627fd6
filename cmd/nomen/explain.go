package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/adminapi"
	"github.com/nomen-project/nomen/client"
	"github.com/nomen-project/nomen/format"
	"github.com/nomen-project/nomen/resolve"
)

// withEngine calls f with a resolver for the names in the store. If a server has the store open,
// the resolver sends its questions to the server. Otherwise it uses the store directly.
func (c *cli) withEngine(ctx context.Context, f func(nomen.Resolver) error) error {
	return c.withStore(ctx, reads, func(b backend) error {
		switch b := b.(type) {
		case *local:
			return f(resolve.New(b.store, resolve.Options{Now: clock}))
		case *adminapi.Client:
			return f(explainer{b})
		}
		return errors.New("this store cannot explain answers")
	})
}

type explainer struct{ api *adminapi.Client }

func (e explainer) Resolve(ctx context.Context, q nomen.Question) (*nomen.Answer, error) {
	values := url.Values{"name": {q.Name.Key()}, "explain": {"yes"}}
	for key, value := range map[string]string{
		"s": string(q.Service), "c": q.Component, "r": q.R, "q": q.Q, "accept": q.Accept, "languages": q.Languages,
		"user_agent": q.UserAgent, "query": q.Query,
	} {
		if value != "" {
			values.Set(key, value)
		}
	}
	if !q.At.IsZero() {
		values.Set("at", q.At.UTC().Format(time.RFC3339Nano))
	}
	if q.Service == nomen.IisI {
		values.Set("with", q.Other.String())
	}
	req, err := e.api.NewRequest(ctx, http.MethodGet, "resolve?"+values.Encode(), nil)
	if err != nil {
		return nil, err
	}
	resp, err := cmp.Or(e.api.HTTP, adminapi.Direct()).Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	body := io.LimitReader(resp.Body, client.DefaultMaxBody)
	if resp.StatusCode == http.StatusOK {
		return format.ReadJSON(body, q.Service)
	}
	problem, err := format.ReadProblem(body)
	if err != nil {
		return nil, fmt.Errorf("unexpected response from the server: %s", resp.Status)
	}
	if e := problem.Err(); e != nil {
		return nil, e
	}
	return nil, fmt.Errorf("unexpected response from the server: %s: %s", resp.Status, problem.Detail)
}
