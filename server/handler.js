(function () {
	var box = document.getElementById("handler");
	if (!box || !window.isSecureContext || !navigator.registerProtocolHandler) {
		return;
	}
	box.hidden = false;
	box.querySelector("button").addEventListener("click", function () {
		navigator.registerProtocolHandler("web+urn", location.origin + "/-/handler?uri=%s");
	});
})();
