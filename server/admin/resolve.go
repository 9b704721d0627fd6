package admin

import (
	"errors"
	"net/http"
	"net/url"
	"strings"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/adminapi"
	"github.com/nomen-project/nomen/format"
	"github.com/nomen-project/nomen/internal/question"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/registrar"
)

// explain resolves a name for an anonymous client in the same way as the public listener. If the
// client requests it, the response explains the answer.
func (s *API) explain(c *call) error {
	q := c.q
	put := nomen.Question{
		Service: nomen.Service(q.Get("s")), Component: q.Get("c"), R: q.Get("r"), Q: q.Get("q"), Query: q.Get("query"),
		Accept: q.Get("accept"), Languages: q.Get("languages"), UserAgent: q.Get("user_agent"), Country: question.Country(q.Get("country")),
	}
	var err error
	if put.Explain, err = wanted(q, "explain"); err != nil {
		return err
	}
	if text := q.Get("at"); text != "" {
		if put.At, err = adminapi.ParseTime(text); err != nil {
			return &adminapi.RequestError{Field: "at", Message: err.Error()}
		}
	}
	if put.Name, err = name.Parse(q.Get("name")); err != nil {
		return s.explainError(c, question.Malformed(q.Get("name"), 0, err))
	}
	if _, err := s.reached(c, put.Name, put.At, registrar.Reader); err != nil {
		return err
	}
	if put.Service == nomen.IisI {
		if put.Other, err = question.Subject(q.Get("with"), nomen.IisI); err != nil {
			return s.explainError(c, err)
		}
	}
	ans, err := s.resolver.Resolve(c.r.Context(), put)
	if err != nil {
		return s.explainError(c, err)
	}
	question.CloseResources(ans)
	describe(c.w.Header(), format.TypeJSON)
	return ignored(format.WriteJSON(c.w, ans))
}

func wanted(q url.Values, key string) (bool, error) {
	switch strings.ToLower(q.Get(key)) {
	case "yes":
		return true, nil
	case "no":
		return false, nil
	}
	return flag(q, key)
}

func (s *API) explainError(c *call, err error) error {
	var e *nomen.Error
	switch {
	case errors.Is(err, nomen.ErrLoop):
		return &adminapi.StatusError{Kind: adminapi.KindLoop, Status: http.StatusLoopDetected, Detail: nomen.ErrLoop.Error()}
	case !errors.As(err, &e):
		return err
	}
	describe(c.w.Header(), format.TypeProblem)
	c.w.WriteHeader(format.StatusOf(e))
	return ignored(format.WriteProblem(c.w, format.NewProblem(e, format.StatusOf(e))))
}
