package mint_test

import (
	"errors"
	"fmt"
	"iter"
	"strings"

	"github.com/nomen-project/nomen/mint"
	"github.com/nomen-project/nomen/name"
)

func ExampleParse() {
	_, err := mint.Parse(name.MustParsePrefix("urn:example"), "a{seq:30}")
	fmt.Println(err)
	// Output: mint: template "a{seq:30}": offset 6: width: invalid number "30": want 0 to 18
}

func ExampleTemplate_Start() {
	t, err := mint.Parse(name.MustParsePrefix("urn:isbn"), "978-3-16-{seq:6:148410-}{check}")
	if err != nil {
		fmt.Println(err)
		return
	}
	run, err := t.Start(mint.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for n, err := range run.Names() {
		fmt.Println(n, err)
		break
	}
	// Output: urn:isbn:9783161484100 <nil>
}

// start starts a run of a template.
func start(prefix, template string) (*mint.Run, error) {
	t, err := mint.Parse(name.MustParsePrefix(prefix), template)
	if err != nil {
		return nil, err
	}
	return t.Start(mint.Options{})
}

func ExampleRun_Names() {
	run, err := start("urn:example", "{seq:1:8-}")
	if err != nil {
		fmt.Println(err)
		return
	}
	for n, err := range run.Names() {
		var end *mint.ExhaustedError
		if errors.As(err, &end) {
			fmt.Println("no more than", end.Capacity)
			break
		}
		fmt.Println(n)
	}
	// Output:
	// urn:example:8
	// urn:example:9
	// no more than 2
}

func ExampleRun_Seek() {
	there := []string{"urn:example:a007", "urn:example:a041"}
	list := func(prefix string) iter.Seq2[name.Name, error] {
		return func(yield func(name.Name, error) bool) {
			for _, key := range there {
				if strings.HasPrefix(key, prefix) && !yield(name.MustParse(key), nil) {
					return
				}
			}
		}
	}
	run, err := start("urn:example", "a{seq:3}")
	if err != nil || run.Seek(list) != nil {
		return
	}
	next, _ := run.Next()
	fmt.Println(next)
	// Output: 42
}

func ExampleSuggest() {
	p := name.MustParsePrefix("urn:dns:example.org")
	t, err := mint.Suggest(p, name.MustParse("urn:dns:example.org:alb002"), mint.Options{})
	fmt.Println(t, err)
	// Output: alb{seq:3} <nil>
}

func ExampleTemplate_String() {
	t, err := mint.Parse(name.MustParsePrefix("urn:dns:example.org"), "alb{seq:3}")
	fmt.Println(t.String(), err)
	// Output: alb{seq:3} <nil>
}

func ExampleTemplate_Shoulder() {
	t, err := mint.Parse(name.MustParsePrefix("ark:77913"), "r7{noid:reedk}")
	fmt.Println(t.Shoulder(), err)
	// Output: r7 <nil>
}

func ExampleTemplate_Ordered() {
	for _, text := range []string{"r7{noid:reedk}", "r7{seq}"} {
		t, err := mint.Parse(name.MustParsePrefix("ark:77913"), text)
		fmt.Println(t.Ordered(), err)
	}
	// Output:
	// true <nil>
	// false <nil>
}

func ExampleTemplate_Counters() {
	t, err := mint.Parse(name.MustParsePrefix("ark:13030"), "xf{noid:rd:9}")
	c, ok := t.Counters()
	fmt.Println(len(c.Values), len(c.Active), ok, err)
	// Output: 10 1 true <nil>
}
