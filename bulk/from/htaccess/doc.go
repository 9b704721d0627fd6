// Package htaccess imports redirects from .htaccess files of Apache httpd, such as those of
// w3id.org. Each directory with an .htaccess file becomes a naming authority with rules.
//
// # What is imported
//
// The package imports RewriteRule, RewriteCond and RewriteBase of mod_rewrite, Redirect and
// RedirectMatch of mod_alias, and ErrorDocument with a URL. Rules keep their order, their
// conditions, their status and their treatment of the query. A directive that has no effect on
// redirects, such as AddType, counts as handled. Each other directive is refused with a reason.
//
// # How rules are read
//
// The package follows the documentation and the behaviour of Apache httpd 2.4:
//
//   - A pattern is matched against the decoded path below the directory, without a leading slash.
//   - The conditions before a rule apply to this rule only. "%1" is a group of the last condition
//     that matched.
//   - The target is percent-encoded unless the flag NE is set. Without NE, "#" does not begin a
//     fragment.
//   - If the target has no "?", or the flag QSA is set, the query of the request is appended.
//   - The rules of a deeper directory replace those of the directories above it.
//
// The package refuses rules that rewrite a path to another path of the same server without a
// redirect. It also refuses rules that set variables, and rules with a target whose host depends on
// the request.
package htaccess
