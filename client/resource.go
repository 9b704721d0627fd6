package client

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"mime"
	"mime/multipart"

	"github.com/nomen-project/nomen"
)

const maxResources = 16

func (r *reply) resource() *nomen.Resource {
	out := &nomen.Resource{Type: r.header.Get("Content-Type"), URL: cmp.Or(r.header.Get("Content-Location"), r.url)}
	if r.stream != nil {
		out.Size, out.Body = r.length, r.stream
		return out
	}
	out.Size, out.Body = int64(len(r.body)), io.NopCloser(bytes.NewReader(r.body))
	return out
}

// resources returns the versions of a resource, which are the parts of a multipart body or the body
// itself (RFC 2169, 3.4).
func (r *reply) resources() ([]*nomen.Resource, error) {
	contentType := r.header.Get("Content-Type")
	mediaType, parameters, err := mime.ParseMediaType(contentType)
	if err != nil || mediaType != "multipart/alternative" {
		return []*nomen.Resource{r.resource()}, nil
	}
	var all []*nomen.Resource
	parts := multipart.NewReader(bytes.NewReader(r.body), parameters["boundary"])
	for len(all) < maxResources {
		p, err := parts.NextRawPart()
		if err == io.EOF {
			return all, nil
		}
		var body []byte
		if err == nil {
			body, err = io.ReadAll(p)
		}
		if err != nil {
			return nil, &FormatError{Type: contentType, Body: r.body, Err: err}
		}
		part := &reply{header: map[string][]string(p.Header), url: r.url, body: body}
		all = append(all, part.resource())
	}
	return nil, &FormatError{Type: contentType, Body: r.body, Err: errors.New("more than 16 versions of a resource")}
}
