package admin

import (
	"net/http"

	"github.com/nomen-project/nomen/adminapi"
)

// testReports sends a test message to each recipient of the reports about all names.
func (s *API) testReports(c *call) error {
	if err := c.requireAllNames("reports"); err != nil {
		return err
	}
	if s.sendTest == nil {
		return &adminapi.StatusError{Kind: adminapi.KindNoReports, Status: http.StatusServiceUnavailable, Detail: "this server sends no reports: set reports.to or reports.webhook in its configuration"}
	}
	return writeJSON(c.w, http.StatusOK, adminapi.ReportTest{Deliveries: s.sendTest(c.r.Context())})
}
