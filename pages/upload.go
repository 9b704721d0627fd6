package pages

import (
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/nomen-project/nomen/adminapi"
	"github.com/nomen-project/nomen/bulk"
	"github.com/nomen-project/nomen/internal/paced"
)

const uploadPath = Root + "upload"

// Limits of an upload.
const (
	maxUpload     = 1 << 30          // maximum size of the request in bytes
	maxUploadText = 256 << 10        // maximum size in bytes of the fields without the file; the name and fieldCost count for each field
	fieldCost     = 64               // memory for an empty field in bytes
	uploadStep    = 30 * time.Second // maximum time for each step of receiving or sending a file
)

func uploadHandlers() handlers {
	return handlers{"GET upload": (*request).uploadPage, "POST upload": (*request).upload}
}

// An uploadView is the page with the form for a file. The fields have the same names as the
// parameters of the API.
type uploadView struct {
	frame
	Key        string // key of the form, so that sending it twice starts only one job
	File       string // ID of a dry run, whose file is used if the user does not choose a file; or ""
	FileName   string
	Format     string // "" to go by the name of the file
	Conflict   string
	Sheet      string // sheet of a workbook
	Encoding   string
	Delimiter  string
	Columns    string // one column per line; Split likewise
	Split      string
	Flags      []uploadFlag
	Why        string
	Formats    []string
	Conflicts  []string
	Delimiters []string
}

func (v *uploadView) Opens() bool {
	on := slices.ContainsFunc(v.Flags, func(f uploadFlag) bool { return f.On })
	return on || len(v.Faults) > 0 || v.Sheet+v.Encoding+v.Delimiter+v.Columns+v.Split != ""
}

type uploadFlag struct {
	ID string
	On bool
}

func (v *uploadView) on(id string) bool { return slices.Contains(v.Flags, uploadFlag{id, true}) }

func uploadFlags() []string {
	return []string{"spreadsheet", "map_resolvers", "strict", "retired"}
}

func (c *request) uploadPage() error {
	v := c.newUploadView(c.r.Form)
	return c.showUpload(v, http.StatusOK)
}

func (c *request) newUploadView(q url.Values) *uploadView {
	v := &uploadView{
		Key: formKey(q), File: q.Get("file"), Format: q.Get("format"), Conflict: q.Get("on_conflict"), Sheet: q.Get("sheet"), Encoding: strings.TrimSpace(q.Get("encoding")),
		Delimiter: q.Get("delimiter"), Columns: lines(joined(q["map"])), Split: lines(joined(q["split"])), Why: lines(q.Get("why")),
		Formats: []string{"", "csv", "tsv", "xlsx", "jsonl"}, Conflicts: []string{"merge", "replace", "keep", "fail"}, Delimiters: []string{"", ",", ";", "|", "tab"},
	}
	for _, id := range uploadFlags() {
		v.Flags = append(v.Flags, uploadFlag{id, q.Get(id) != "" && q.Get(id) != "0" && q.Get(id) != "false"})
	}
	if !slices.Contains(v.Conflicts, v.Conflict) {
		v.Conflict = v.Conflicts[0]
	}
	return v
}

func (c *request) showUpload(v *uploadView, status int) error {
	v.Title, v.Section = c.texts.text("upload.title"), "upload"
	if v.File != "" {
		j, err := c.api.Job(c.ctx(), v.File)
		if v.FileName = j.Subject; err != nil || j.Upload == nil || !j.Upload.Kept {
			v.File = ""
		}
	}
	return c.showBulk(status, "upload", v)
}

// upload starts a dry run of the file. The server keeps the file for applying the dry run.
func (c *request) upload() error {
	if c.r.ContentLength > maxUpload {
		return errUploadSize
	}
	body := &uploadBody{Reader: paced.NewReader(c.r.Body, c.w, uploadStep), Closer: c.r.Body}
	c.r.Body = body
	form, file, name, err := c.readUpload()
	_ = http.NewResponseController(c.w).SetWriteDeadline(time.Now().Add(uploadStep)) // fails only in tests
	if err != nil {
		return body.cause(err)
	}
	v := c.newUploadView(form)
	o, faults := v.options(c, name, file != nil)
	if v.Faults = faults; len(faults) > 0 {
		return c.showUpload(v, http.StatusUnprocessableEntity)
	}
	b := adminapi.Background{Keep: true, Key: v.Key, FileName: name}
	in := io.Reader(http.NoBody)
	if file != nil {
		in = file
	} else {
		b.File, b.FileName = v.File, c.fileName(v.File)
	}
	j, err := c.api.StartImport(c.ctx(), in, o, b)
	_ = http.NewResponseController(c.w).SetWriteDeadline(time.Now().Add(uploadStep))
	return c.uploaded(v, j, body.cause(err))
}

func (c *request) fileName(id string) string {
	j, _ := c.api.Job(c.ctx(), id) // if the job does not exist, starting the import fails
	return j.Subject
}

func (c *request) uploaded(v *uploadView, j adminapi.Job, err error) error {
	if err == nil {
		j = c.settle(j)
	}
	fault, ok := c.faultOf(err, uploadField)
	switch {
	case err == nil && j.Problem != nil && j.Problem.Field == "why":
		fault = problem{"why", j.Problem.Detail}
	case err == nil:
		c.see(jobPath(j.ID))
		return nil
	case errors.Is(err, errUploadSize), !ok:
		return err
	}
	v.Faults = []problem{fault}
	return c.showUpload(v, http.StatusUnprocessableEntity)
}

func uploadField(field string) string {
	if field == "file" {
		return "upload"
	}
	return field
}

var errUploadSize = &adminapi.StatusError{Status: http.StatusRequestEntityTooLarge, Detail: "a file can have at most 1 GiB here; split it, or ask the operator of the server to import it"}

// An uploadBody is the body of a request with a file. It records the error of reading the body,
// because the API only reports that the body is truncated.
type uploadBody struct {
	io.Reader
	io.Closer
	err error
}

func (b *uploadBody) Read(p []byte) (int, error) {
	n, err := b.Reader.Read(p)
	if err != nil && err != io.EOF {
		b.err = err
	}
	return n, err
}

// cause returns err. If the actual reason was that the body is too large, cause returns that error
// instead.
func (b *uploadBody) cause(err error) error {
	if err != nil && errors.As(b.err, new(*http.MaxBytesError)) {
		return errUploadSize
	}
	return err
}

// readUpload parses the form up to the file, which is the last field. The file is nil if the user
// has not chosen a file.
func (c *request) readUpload() (form url.Values, file *multipart.Part, name string, err error) {
	form = c.r.PostForm
	in, err := c.r.MultipartReader()
	if errors.Is(err, http.ErrNotMultipart) { // a form that was sent again after sign-in
		return form, nil, "", nil
	}
	form = url.Values{}
	for left := int64(maxUploadText); err == nil; {
		var part *multipart.Part
		if part, err = in.NextPart(); err != nil {
			break
		}
		if part.FormName() == "upload" {
			if name = baseName(part); name == "" {
				return form, nil, "", nil
			}
			return form, part, name, nil
		}
		var text []byte
		text, err = io.ReadAll(io.LimitReader(part, left+1))
		if left -= int64(len(part.FormName()) + len(text) + fieldCost); left < 0 || !utf8.Valid(text) {
			return nil, nil, "", &adminapi.RequestError{Message: "invalid form: is too large or is not UTF-8"}
		}
		form.Add(part.FormName(), string(text))
	}
	if errors.Is(err, io.EOF) {
		return form, nil, "", nil
	}
	return nil, nil, "", &adminapi.RequestError{Message: "invalid form: " + err.Error()}
}

// baseName returns the name of an uploaded file without its directory, or "" if the user has not
// chosen a file.
func baseName(part *multipart.Part) string {
	_, params, err := mime.ParseMediaType(part.Header.Get("Content-Disposition"))
	if err != nil {
		return ""
	}
	name := params["filename"]
	return strings.ToValidUTF8(name[strings.LastIndexAny(name, `/\`)+1:], "\uFFFD")
}

func (v *uploadView) options(c *request, name string, chosen bool) (o bulk.ImportOptions, faults []problem) {
	fault := func(id, key string) { faults = append(faults, problem{id, c.texts.text(key)}) }
	o = bulk.ImportOptions{DryRun: true, Why: v.Why, Sheet: bulk.Sheet{Name: v.Sheet, Encoding: v.Encoding, Delimiter: v.Delimiter, Columns: entries(v.Columns), Split: entries(v.Split)}}
	o.Sheet.Spreadsheet, o.Resolvers, o.Strict, o.Retired = v.on("spreadsheet"), v.on("map_resolvers"), v.on("strict"), v.on("retired")
	o.OnConflict, _ = bulk.ParseConflict(v.Conflict)
	known := true
	switch {
	case v.Format != "":
		o.Format, known = bulk.ParseFormat(v.Format)
	case chosen:
		o.Format, _, known = bulk.Suffixes(name)
		known = known && strings.Contains(name, ".")
	}
	switch {
	case !chosen && v.File == "":
		fault("upload", "upload.no-file")
	case !chosen && v.Format == "", !known, !o.Format.Readable():
		fault("format", "upload.no-format")
	}
	if o.Format == bulk.JSONLines {
		o.Sheet.Spreadsheet = false
	}
	return o, faults
}

// keptUpload returns the fields of a form that was sent after the session had ended. The user must
// choose the file again.
func (c *request) keptUpload() (url.Values, error) {
	if c.r.URL.Path != uploadPath {
		return c.r.PostForm, nil
	}
	form, _, _, err := c.readUpload()
	return form, err
}
