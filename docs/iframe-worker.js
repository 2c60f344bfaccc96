// A page that is opened from the disk may start no worker, and the search needs one. So its worker runs in a hidden frame.
// The site's template loads this before its own script. Served over HTTP, the browser's own Worker stays.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(script) {
      super();
      this.frame = document.body.appendChild(document.createElement("iframe"));
      this.frame.hidden = true;
      const inside = this.frame.contentWindow;
      const quoted = JSON.stringify(String(script)).replaceAll("<", "\\u003c");
      this.ready = new Promise((resolve, reject) => {
        inside.addEventListener("error", reject);
        inside.frameReady = resolve;
      });
      inside.importScripts = (...scripts) => scripts.forEach((each) => {
        inside.document.write(`<script src=${JSON.stringify(String(each))}><\/script>`);
      });
      inside.tell = (data) => {
        const said = new MessageEvent("message", { data });
        this.dispatchEvent(said);
        this.onmessage?.(said);
      };
      inside.document.open();
      inside.document.write("<!doctype html><script>postMessage = (data) => tell(data)<\/script>"
        + `<script src=${quoted}><\/script><script>frameReady()<\/script>`);
      inside.document.close();
    }

    postMessage(data) {
      this.ready.then(() => this.frame.contentWindow.dispatchEvent(new MessageEvent("message", { data })));
    }

    terminate() {
      this.frame.remove();
    }
  };
}
