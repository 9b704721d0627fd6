package admin

import (
	"errors"
	"net/http"
	"strings"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/adminapi"
	"github.com/nomen-project/nomen/format"
	"github.com/nomen-project/nomen/internal/question"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/registrar"
)

// explain resolves a name as the public listener would for an anonymous client, and
// explains the answer on request.
func (s *API) explain(c *call) error {
	q, err := c.query("name", "s", "c", "r", "q", "query", "with", "accept", "languages", "country", "at", "explain")
	if err != nil {
		return err
	}
	put := nomen.Question{
		Service: nomen.Service(first(q, "s")), Component: first(q, "c"), R: first(q, "r"), Q: first(q, "q"), Query: first(q, "query"),
		Accept: first(q, "accept"), Languages: first(q, "languages"), Country: question.Country(first(q, "country")),
	}
	if put.Explain, err = wanted(q, "explain"); err != nil {
		return err
	}
	if text := first(q, "at"); text != "" {
		if put.At, err = adminapi.ParseTime(text); err != nil {
			return &adminapi.RequestError{Field: "at", Message: err.Error()}
		}
	}
	if put.Name, err = name.Parse(first(q, "name")); err != nil {
		return s.explainError(c, question.Malformed(first(q, "name"), 0, err))
	}
	if _, err := s.reached(c, put.Name, put.At, registrar.Reader); err != nil {
		return err
	}
	if put.Service == nomen.IisI {
		if put.Other, err = question.Subject(first(q, "with"), nomen.IisI); err != nil {
			return s.explainError(c, err)
		}
	}
	ans, err := s.resolver.Resolve(c.r.Context(), put)
	if err != nil {
		return s.explainError(c, err)
	}
	question.CloseResources(ans)
	h := c.w.Header()
	h.Set("Content-Type", format.TypeJSON)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "no-store")
	return ignored(format.WriteJSON(c.w, ans))
}

// wanted returns a parameter that is yes or no, or else a [flag].
func wanted(q map[string][]string, key string) (bool, error) {
	switch strings.ToLower(first(q, key)) {
	case "yes":
		return true, nil
	case "no":
		return false, nil
	}
	return flag(q, key)
}

// explainError sends an error of the resolver, as the public listener does.
func (s *API) explainError(c *call, err error) error {
	var e *nomen.Error
	switch {
	case errors.Is(err, nomen.ErrLoop):
		return &adminapi.StatusError{Kind: adminapi.KindLoop, Status: http.StatusLoopDetected, Detail: nomen.ErrLoop.Error()}
	case !errors.As(err, &e):
		return err
	}
	h := c.w.Header()
	h.Set("Content-Type", format.TypeProblem)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "no-store")
	c.w.WriteHeader(format.StatusOf(e))
	return ignored(format.WriteProblem(c.w, format.NewProblem(e, format.StatusOf(e))))
}
