package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io/fs"
	"strings"
	"time"
)

// user is the ID of the user and the group in a container. Images without a distribution use this
// number by convention.
const user = 65532

// Media types that the OCI image specification 1.1 defines.
const (
	typeIndex    = "application/vnd.oci.image.index.v1+json"
	typeManifest = "application/vnd.oci.image.manifest.v1+json"
	typeConfig   = "application/vnd.oci.image.config.v1+json"
	typeLayer    = "application/vnd.oci.image.layer.v1.tar+gzip"
)

// A layout is an OCI image layout: blobs, which are named by their hashes, and an index.
type layout struct{ files tree }

// blob adds a blob and returns its descriptor.
func (l *layout) blob(mediaType string, data []byte) descriptor {
	sum := fmt.Sprintf("%x", sha256.Sum256(data))
	name := "blobs/sha256/" + sum
	for _, e := range l.files {
		if e.path == name {
			return descriptor{MediaType: mediaType, Digest: "sha256:" + sum, Size: len(data)}
		}
	}
	l.files.file(name, data)
	return descriptor{MediaType: mediaType, Digest: "sha256:" + sum, Size: len(data)}
}

// json adds a value as a blob of JSON, and returns its descriptor.
func (l *layout) json(mediaType string, value any) (descriptor, error) {
	data, err := json.Marshal(value)
	return l.blob(mediaType, data), err
}

// image writes one OCI archive with the image for all architectures.
func (r *release) image() error {
	var l layout
	all := index{Schema: 2, MediaType: typeIndex, Annotations: r.annotations()}
	for _, p := range r.programs {
		d, err := r.manifest(&l, p)
		if err != nil {
			return err
		}
		all.Manifests = append(all.Manifests, d)
	}
	d, err := l.json(typeIndex, all)
	if err != nil {
		return err
	}
	name := "localhost/nomen:" + r.tag()
	d.Annotations = map[string]string{
		"org.opencontainers.image.ref.name": name, // the name of the image after podman load
		"io.containerd.image.name":          name, // the name of the image after docker load
	}
	top, err := json.Marshal(index{Schema: 2, MediaType: typeIndex, Manifests: []descriptor{d}})
	if err != nil {
		return err
	}
	l.files.file("index.json", top)
	l.files.file("oci-layout", []byte(`{"imageLayoutVersion":"1.0.0"}`))
	var b bytes.Buffer
	if err := l.files.tar(&b, "", r.at); err != nil {
		return err
	}
	return r.write("nomen-"+r.version.packaged+"-oci.tar", b.Bytes())
}

func (r *release) tag() string {
	return strings.NewReplacer("+", "-", "~", "-").Replace(r.version.packaged)
}

// manifest adds the image for one architecture to the layout.
func (r *release) manifest(l *layout, p program) (descriptor, error) {
	var layer bytes.Buffer
	if err := r.layer(p).tar(&layer, "", r.at); err != nil {
		return descriptor{}, err
	}
	blob := l.blob(typeLayer, compress(layer.Bytes()))
	on := platform{Architecture: p.arch, OS: "linux"}
	if p.arch == "arm64" {
		on.Variant = "v8"
	}
	config, err := l.json(typeConfig, r.config(on, fmt.Sprintf("sha256:%x", sha256.Sum256(layer.Bytes()))))
	if err != nil {
		return descriptor{}, err
	}
	d, err := l.json(typeManifest, manifest{
		Schema: 2, MediaType: typeManifest, Config: config, Layers: []descriptor{blob}, Annotations: r.annotations(),
	})
	d.Platform = &on
	return d, err
}

func (r *release) layer(p program) tree {
	var t tree
	t.program("usr/bin/nomen", p.binary)
	t.file("etc/passwd", fmt.Appendf(nil, "root:x:0:0:root:/:/sbin/nologin\nnomen:x:%d:%d:nomen:/var/lib/nomen:/sbin/nologin\n", user, user))
	t.file("etc/group", fmt.Appendf(nil, "root:x:0:\nnomen:x:%d:\n", user))
	t.file("etc/ssl/certs/ca-certificates.crt", r.roots)
	t.file("usr/share/doc/nomen/LICENSE", r.licence)
	t.file("usr/share/doc/nomen/copyright", r.copyright)
	return append(t,
		entry{path: "tmp", mode: fs.ModeDir | fs.ModeSticky | 0o777},
		entry{path: "var/lib/nomen", mode: fs.ModeDir | 0o750, owner: user})
}

// config returns the configuration of an image. The parameter diffID is the hash of its layer.
func (r *release) config(on platform, diffID string) imageConfig {
	return imageConfig{
		Created: r.at, Author: r.maintainer, platform: on,
		Config: runConfig{
			User:         fmt.Sprintf("%d:%d", user, user),
			ExposedPorts: map[string]struct{}{"4500/tcp": {}},
			Env:          []string{"PATH=/usr/bin", "NOMEN_DATA=/var/lib/nomen"},
			Entrypoint:   []string{"/usr/bin/nomen"},
			Cmd:          []string{"serve"},
			Volumes:      map[string]struct{}{"/var/lib/nomen": {}},
			WorkingDir:   "/var/lib/nomen",
			Labels:       r.annotations(),
			StopSignal:   "SIGTERM",
			Healthcheck: healthcheck{
				Test: []string{"CMD", "/usr/bin/nomen", "health"}, Interval: 30 * time.Second,
				Timeout: 6 * time.Second, StartPeriod: 30 * time.Second, Retries: 3,
			},
		},
		RootFS:  rootFS{Type: "layers", DiffIDs: []string{diffID}},
		History: []history{{Created: r.at, CreatedBy: "make release"}},
	}
}

// annotations returns the annotations of the image that the OCI specification defines.
func (r *release) annotations() map[string]string {
	const home = "https://github.com/nomen-project/nomen"
	return map[string]string{
		"org.opencontainers.image.created":       r.at.Format(time.RFC3339),
		"org.opencontainers.image.description":   "name service for persistent identifiers",
		"org.opencontainers.image.documentation": home + "/tree/main/docs",
		"org.opencontainers.image.licenses":      "Apache-2.0",
		"org.opencontainers.image.source":        home,
		"org.opencontainers.image.title":         "nomen",
		"org.opencontainers.image.version":       r.version.packaged,
	}
}

type descriptor struct {
	MediaType   string            `json:"mediaType"`
	Digest      string            `json:"digest"`
	Size        int               `json:"size"`
	Platform    *platform         `json:"platform,omitempty"`
	Annotations map[string]string `json:"annotations,omitempty"`
}

type platform struct {
	Architecture string `json:"architecture"`
	OS           string `json:"os"`
	Variant      string `json:"variant,omitempty"`
}

type index struct {
	Schema      int               `json:"schemaVersion"`
	MediaType   string            `json:"mediaType"`
	Manifests   []descriptor      `json:"manifests"`
	Annotations map[string]string `json:"annotations,omitempty"`
}

type manifest struct {
	Schema      int               `json:"schemaVersion"`
	MediaType   string            `json:"mediaType"`
	Config      descriptor        `json:"config"`
	Layers      []descriptor      `json:"layers"`
	Annotations map[string]string `json:"annotations,omitempty"`
}

type imageConfig struct {
	Created time.Time `json:"created"`
	Author  string    `json:"author"`
	platform
	Config  runConfig `json:"config"`
	RootFS  rootFS    `json:"rootfs"`
	History []history `json:"history"`
}

// A runConfig says how to run the program of an image. The health check is an additional field of
// Docker, as the OCI specification permits.
type runConfig struct {
	User         string
	ExposedPorts map[string]struct{}
	Env          []string
	Entrypoint   []string
	Cmd          []string
	Volumes      map[string]struct{}
	WorkingDir   string
	Labels       map[string]string
	StopSignal   string
	Healthcheck  healthcheck
}

// A healthcheck is a health check of Docker. Its times are in nanoseconds.
type healthcheck struct {
	Test                           []string
	Interval, Timeout, StartPeriod time.Duration
	Retries                        int
}

type rootFS struct {
	Type    string   `json:"type"`
	DiffIDs []string `json:"diff_ids"`
}

type history struct {
	Created   time.Time `json:"created"`
	CreatedBy string    `json:"created_by"`
}
