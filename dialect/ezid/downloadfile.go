package ezid

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/nomen-project/nomen/internal/ascii"
	"github.com/nomen-project/nomen/internal/durable"
	"github.com/nomen-project/nomen/internal/paced"
	"github.com/nomen-project/nomen/internal/retryafter"
	"github.com/nomen-project/nomen/store"
)

// Limits of downloads.
const (
	maxBuilding  = 2        // maximum number of downloads that are written concurrently
	maxOwnFiles  = 10       // maximum number of files of a user; a further file replaces the oldest
	maxFiles     = 200      // maximum number of files of all users
	maxFilesSize = 16 << 30 // maximum total size of all files in bytes
	keepFile     = 7 * 24 * time.Hour
	buildTime    = 6 * time.Hour    // maximum time for writing a file
	retryBuild   = time.Minute      // Retry-After if too many downloads are written
	sendStep     = 30 * time.Second // timeout of each write of a response
)

// building has the users whose downloads are being written.
type building struct {
	mu      sync.Mutex
	all     map[string]bool
	running sync.WaitGroup
}

// begin registers a download of a user. It returns false if another download of the user is being
// written, or if too many downloads of all users are.
func (b *building) begin(user string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.all[user] || len(b.all) >= maxBuilding {
		return false
	}
	if b.all == nil {
		b.all = map[string]bool{}
	}
	b.all[user] = true
	b.running.Add(1)
	return true
}

func (b *building) has(user string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.all[user]
}

func (b *building) end(user string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.all, user)
	b.running.Done()
}

// beginDownload starts writing the file of a download. Each user has a separate directory.
func (h *Handler) beginDownload(c *call, d *download) reply {
	sum := sha256.Sum256([]byte(d.actor.Who))
	user := hex.EncodeToString(sum[:16])
	if !h.building.begin(user) {
		c.w.Header().Set("Retry-After", retryafter.Format(retryBuild))
		return failed("concurrency limit exceeded")
	}
	room, err := h.makeRoom(user)
	if err != nil || !room {
		h.building.end(user)
		if err != nil {
			return h.failure(c, err)
		}
		c.w.Header().Set("Retry-After", retryafter.Format(time.Hour))
		return failed("concurrency limit exceeded")
	}
	id := strings.ToLower(rand.Text())
	path := filepath.Join(h.Downloads, user, id+d.suffix())
	go func() {
		defer h.building.end(user)
		h.build(d, id, path)
	}()
	return succeeded(c.Base + "/download/" + filepath.Base(path))
}

func (h *Handler) build(d *download, id, path string) {
	defer func() {
		if p := recover(); p != nil {
			h.Log.Error("panic in a batch download of EZID", "panic", p)
		}
	}()
	ctx, cancel := context.WithTimeout(context.Background(), buildTime)
	defer cancel()
	err := durable.Replace(durable.Disk{Mode: durable.Private}, path, func(w io.Writer) error { return h.writeDownload(ctx, d, id, w) })
	switch {
	case errors.Is(err, store.ErrClosed):
		h.Log.Info("batch download of EZID interrupted", "who", d.actor.Who)
	case err != nil:
		h.Log.Error("batch download of EZID failed", "who", d.actor.Who, "err", err)
	}
}

// makeRoom removes old files, and creates the directory of a user. It returns false if there are
// still too many files.
func (h *Handler) makeRoom(user string) (ok bool, err error) {
	own := filepath.Join(h.Downloads, user)
	for _, dir := range []string{h.Downloads, own} {
		if err := os.Mkdir(dir, durable.PrivateDir); err != nil && !errors.Is(err, fs.ErrExist) {
			return false, err
		}
	}
	users, err := os.ReadDir(h.Downloads)
	if err != nil {
		return false, err
	}
	files, size := 0, int64(0)
	for _, u := range users {
		dir := filepath.Join(h.Downloads, u.Name())
		all := h.sweep(dir)
		if dir == own && len(all) >= maxOwnFiles {
			oldest := slices.MinFunc(all, func(a, b fs.FileInfo) int { return a.ModTime().Compare(b.ModTime()) })
			if err := os.Remove(filepath.Join(dir, oldest.Name())); err != nil {
				return false, err
			}
			all = slices.DeleteFunc(all, func(f fs.FileInfo) bool { return f == oldest })
		}
		for _, f := range all {
			files, size = files+1, size+f.Size()
		}
		if len(all) == 0 && dir != own && !h.building.has(u.Name()) {
			_ = os.Remove(dir) // if this fails, the next request tries again
		}
	}
	return files < maxFiles && size < maxFilesSize, nil
}

// sweep removes old files from a directory, including the files of interrupted downloads. It
// returns the remaining files.
func (h *Handler) sweep(dir string) (left []fs.FileInfo) {
	entries, _ := os.ReadDir(dir) // what cannot be read has no files to remove
	for _, e := range entries {
		switch info, err := e.Info(); {
		case err != nil:
		case h.isOld(info):
			_ = os.Remove(filepath.Join(dir, e.Name())) // if this fails, the next request tries again
		default:
			left = append(left, info)
		}
	}
	return left
}

func (h *Handler) isOld(f fs.FileInfo) bool { return h.Now().Sub(f.ModTime()) > keepFile }

// sendDownload sends the file of a download. The name of the file is the only credential, so
// sendDownload rejects requests that other machines can read.
func (h *Handler) sendDownload(c *call, name string) {
	switch {
	case c.r.Method != http.MethodGet && c.r.Method != http.MethodHead:
		c.send(failed("method not allowed"))
		return
	case !c.Private:
		c.send(failed("forbidden"))
		return
	}
	header := c.w.Header()
	header.Set("Cache-Control", "no-store")
	f, info := h.openDownload(name)
	if f == nil {
		c.sendBody(http.StatusNotFound, "text/plain; charset=utf-8", []byte(errorMark+"not found"))
		return
	}
	defer f.Close()
	header.Set("Content-Type", "application/gzip")
	if strings.HasSuffix(name, ".zip") {
		header.Set("Content-Type", "application/zip")
	}
	header.Set("Content-Disposition", `attachment; filename="`+name+`"`)
	header.Set("X-Content-Type-Options", "nosniff")
	http.ServeContent(pacedResponse{c.w, paced.NewWriter(c.w, sendStep)}, c.r, "", info.ModTime(), f)
}

// openDownload opens the file of a download. It returns nil if the file does not exist or is too
// old.
func (h *Handler) openDownload(name string) (*os.File, fs.FileInfo) {
	id, suffix, _ := strings.Cut(name, ".")
	if len(id) != len(rand.Text()) || !ascii.All(id, ascii.IsAlnum) || !contains([]string{"txt.gz", "csv.gz", "xml.gz", "zip"}, suffix) {
		return nil, nil
	}
	users, _ := os.ReadDir(h.Downloads) // without the directory, there are no files
	for _, u := range users {
		f, err := os.Open(filepath.Join(h.Downloads, u.Name(), name))
		if err != nil {
			continue
		}
		if info, err := f.Stat(); err == nil && !h.isOld(info) {
			return f, info
		}
		_ = f.Close()
	}
	return nil, nil
}

// A pacedResponse is a response with a timeout for each write instead of a timeout for the whole
// response.
type pacedResponse struct {
	http.ResponseWriter
	paced *paced.Writer
}

func (r pacedResponse) Write(b []byte) (int, error) { return r.paced.Write(b) }
