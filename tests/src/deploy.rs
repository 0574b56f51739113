//! The files of `deploy/`, run: reverse proxies from the distribution's packages, and container images, built and run by the
//! distribution's buildah with chroot isolation, without a daemon or a registry.

use std::fs;
use std::net::{Ipv4Addr, SocketAddr};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use florin_servers::free_port;
use reqwest::{Certificate, Client};
use serde_json::Value;

use crate::program::{Folder, Running, write_private};
use crate::wait::eventually;

/// The name and the address in the files of `deploy/`.
const NAME: &str = "pay.shop.example";
const UPSTREAM: &str = "127.0.0.1:8080";
const OTHER_UPSTREAM: &str = "127.0.0.2:8080";

#[derive(Debug)]
pub struct ReverseProxy {
    _child: Running,
    port: u16,
    /// Where its certificate, or the one that signed it, is.
    certificate: PathBuf,
    folder: Folder,
}

impl ReverseProxy {
    /// Caddy with `deploy/caddy/Caddyfile`, and a certificate of a local authority.
    pub async fn caddy(upstream: SocketAddr) -> Self {
        let site = deployed("caddy/Caddyfile");
        let site = replaced(&site, &[(UPSTREAM, &upstream.to_string())]);
        Self::caddy_with(&site, Command::new("caddy"), Folder::new()).await
    }

    /// Caddy with the file of the documentation for two proxies, on one port of two addresses.
    pub async fn caddy_of_pair(upstreams: [SocketAddr; 2]) -> Self {
        let [one, other] = upstreams;
        assert_eq!(one.port(), other.port());
        let site = documented("\npay.shop.example {");
        let shipped = deployed("caddy/Caddyfile");
        assert_eq!(site, shipped.replace(UPSTREAM, "florin.internal:8080"));
        let site = replaced(&site, &[(":8080 {", &format!(":{} {{", one.port()))]);
        let folder = Folder::new();
        let hosts = folder.file("hosts");
        let [one, other] = [one.ip(), other.ip()];
        let names = format!("{one} florin.internal\n{other} florin.internal\n");
        std::fs::write(&hosts, names).expect("the folder is writable");
        // In a separate namespace it reads these names. Where a user may open none, the test needs `sudo`.
        let mut caddy = Command::new("unshare");
        caddy.args(["--map-root-user", "--mount", "sh", "-c"]);
        caddy.arg("mount --bind \"$0\" /etc/hosts && exec caddy \"$@\"");
        caddy.arg(hosts);
        Self::caddy_with(&site, caddy, folder).await
    }

    async fn caddy_with(site: &str, mut caddy: Command, folder: Folder) -> Self {
        let port = free_port();
        let site = replaced(
            site,
            &[
                (NAME, "localhost"),
                ("\nlocalhost {", &format!("\nlocalhost:{port} {{")),
            ],
        );
        let site = site.replace("https://localhost", "https://pay.shop.example");
        let options = format!(
            "{{\n\tadmin off\n\tskip_install_trust\n\tlocal_certs\n\thttp_port {}\n\tauto_https disable_redirects\n}}\n",
            free_port()
        );
        let file = folder.file("Caddyfile");
        std::fs::write(&file, [options, site].concat()).expect("the folder is writable");
        caddy.args(["run", "--adapter", "caddyfile", "--config"]);
        caddy.arg(&file).env("XDG_DATA_HOME", folder.path());
        let certificate = folder.file("caddy/pki/authorities/local/root.crt");
        Self::started(caddy, port, certificate, folder).await
    }

    /// nginx with `deploy/nginx/florin.conf`, and a certificate for `localhost` that signs itself.
    pub async fn nginx(upstream: SocketAddr) -> Self {
        Self::nginx_for(upstream, 2).await
    }

    /// nginx with the file of the documentation for two proxies.
    pub async fn nginx_of_pair(upstreams: [SocketAddr; 2]) -> Self {
        let site = documented("\nupstream florin {");
        let line = format!("    server {UPSTREAM} max_fails=0;\n");
        let both = [&line, &*line.replace(UPSTREAM, OTHER_UPSTREAM)].concat();
        let shipped = deployed("nginx/florin.conf");
        assert_eq!(site, replaced(&shipped, &[(&line, &both)]));
        let [one, other] = upstreams.map(|upstream| upstream.to_string());
        let site = replaced(&site, &[(UPSTREAM, &one), (OTHER_UPSTREAM, &other)]);
        Self::nginx_with(&site, 2).await
    }

    /// nginx with a certificate that is valid for a number of days.
    pub async fn nginx_for(upstream: SocketAddr, days: u32) -> Self {
        let site = deployed("nginx/florin.conf");
        let site = replaced(&site, &[(UPSTREAM, &upstream.to_string())]);
        Self::nginx_with(&site, days).await
    }

    async fn nginx_with(site: &str, days: u32) -> Self {
        let (folder, port) = (Folder::new(), free_port());
        let [certificate, key] = ["localhost.pem", "localhost.key"].map(|name| folder.file(name));
        self_signed(&certificate, &key, days);
        let live = |file| format!("/etc/letsencrypt/live/pay.shop.example/{file}.pem");
        let path = |path: &Path| path.display().to_string();
        let site = replaced(
            site,
            &[
                (&live("fullchain"), &path(&certificate)),
                (&live("privkey"), &path(&key)),
                ("listen 443", &format!("listen 127.0.0.1:{port}")),
                ("server_name pay.shop.example", "server_name localhost"),
            ],
        );
        let temporary: String = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
            .map(|what| format!("{what}_temp_path {}/{what};\n", folder.path().display()))
            .concat();
        let main = format!(
            "daemon off; master_process off; pid {0}/nginx.pid; error_log {0}/error.log;\n\
             events {{}}\nhttp {{\naccess_log off;\n{temporary}{site}}}\n",
            folder.path().display()
        );
        let file = folder.file("nginx.conf");
        std::fs::write(&file, main).expect("the folder is writable");
        // Debian keeps it in a folder that is not on a user's `PATH`.
        let in_debian = Path::new("/usr/sbin/nginx");
        let mut nginx = Command::new(if in_debian.exists() {
            in_debian
        } else {
            Path::new("nginx")
        });
        nginx.arg("-e").arg(folder.file("error.log"));
        nginx.arg("-p").arg(folder.path()).arg("-c").arg(&file);
        Self::started(nginx, port, certificate, folder).await
    }

    async fn started(
        mut command: Command,
        port: u16,
        certificate: PathBuf,
        folder: Folder,
    ) -> Self {
        let log = std::fs::File::create(folder.file("log")).expect("the folder is writable");
        command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log);
        let child = command.spawn();
        let child = child.expect("`cargo xtask tools` installs caddy and nginx");
        let proxy = Self {
            _child: Running(child),
            port,
            certificate,
            folder,
        };
        eventually("the reverse proxy serves the checkout", async || {
            let loader = format!("{}/florin.js", proxy.url());
            let client = proxy.client(Ipv4Addr::LOCALHOST)?;
            let response = client.get(loader).send().await.ok()?;
            response.status().is_success().then_some(())
        })
        .await;
        proxy
    }

    pub fn url(&self) -> String {
        format!("https://localhost:{}", self.port)
    }

    /// The file of its certificate, or of the one that signed it.
    pub fn certificate(&self) -> &Path {
        &self.certificate
    }

    /// A client at this address of the machine, which trusts no other certificate; `None` until there is one.
    pub fn client(&self, address: Ipv4Addr) -> Option<Client> {
        let pem = std::fs::read(&self.certificate).ok()?;
        let certificate = Certificate::from_pem(&pem).ok()?;
        let client = Client::builder().no_proxy().tls_certs_only([certificate]);
        client
            .local_address(std::net::IpAddr::V4(address))
            .build()
            .ok()
    }

    /// Returns `true` if it speaks HTTP/2 to browsers.
    pub fn offers_http2(&self) -> bool {
        let tried = Command::new("openssl")
            .args(["s_client", "-servername", "localhost"])
            .args(["-alpn", "h2,http/1.1", "-connect"])
            .arg(format!("localhost:{}", self.port))
            .stdin(Stdio::null())
            .output()
            .expect("`cargo xtask tools` installs openssl");
        String::from_utf8_lossy(&tried.stdout).contains("ALPN protocol: h2")
    }

    pub fn printed(&self) -> String {
        std::fs::read_to_string(self.folder.file("log")).unwrap_or_default()
    }
}

fn deployed(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../deploy")
        .join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The fenced block of docs/operations/postgresql.md that has this text.
fn documented(part: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/operations/postgresql.md");
    let page = std::fs::read_to_string(&path).expect("the page is there");
    let mut blocks = page
        .split("\n```")
        .filter_map(|block| block.split_once('\n'));
    let found = blocks.find(|(_, block)| block.contains(part));
    let (_, block) = found.unwrap_or_else(|| panic!("{part} is in no block of {}", path.display()));
    [block, "\n"].concat()
}

/// The text with other words in it: a test runs what is deployed, except for names and addresses.
fn replaced(text: &str, words: &[(&str, &str)]) -> String {
    let mut text = text.to_owned();
    for (from, to) in words {
        assert!(text.contains(from), "{from} is not in:\n{text}");
        text = text.replace(from, to);
    }
    text
}

fn self_signed(certificate: &Path, key: &Path, days: u32) {
    let made = Command::new("openssl")
        .args(["req", "-x509", "-newkey", "rsa:2048", "-nodes"])
        .args(["-days", &days.to_string(), "-subj", "/CN=localhost"])
        .args(["-addext", "subjectAltName=DNS:localhost"])
        .args(["-addext", "basicConstraints=critical,CA:FALSE"])
        .arg("-out")
        .arg(certificate)
        .arg("-keyout")
        .arg(key)
        .stderr(Stdio::null())
        .status();
    assert!(
        made.expect("`cargo xtask tools` installs openssl")
            .success()
    );
}

const USER: u32 = 65_532;

#[derive(Debug)]
pub struct Container {
    folder: Folder,
    name: String,
}

/// A program that runs in a container; it is killed when dropped.
#[derive(Debug)]
pub struct Contained(Child);

impl Container {
    /// Builds the image of `deploy/Dockerfile` with what its first stage would have made, and a container of it.
    ///
    /// # Errors
    /// Why this machine does not permit containers.
    pub fn build(dockerfile: &str, image: &Path) -> Result<Self, String> {
        if !rustix::process::geteuid().is_root() {
            return Err("chroot isolation for the image's own user needs root".to_owned());
        }
        let folder = Folder::new();
        let (first, last) = dockerfile
            .split_once("\nFROM scratch\n")
            .expect("the last stage is made from nothing");
        assert!(first.contains("\nFROM docker.io/library/rust:"), "{first}");
        // A test reaches no registry.
        let text = format!("FROM scratch AS build\nCOPY image /image\nFROM scratch\n{last}");
        fs::write(folder.file("Dockerfile"), text).expect("our own folder");
        fs::rename(image, folder.file("image")).expect("both are in the temporary folder");
        let mut container = Self {
            folder,
            name: String::new(),
        };
        let context = container.folder.path().display().to_string();
        let isolated = ["bud", "--isolation", "chroot", "--format", "docker"];
        container.buildah(
            &[
                &isolated[..],
                &["--quiet", "--tag", "florin:test", &context],
            ]
            .concat(),
        )?;
        container.name = container.buildah(&["from", "florin:test"])?;
        Ok(container)
    }

    pub fn configuration(&self) -> Value {
        let printed = self.buildah(&["inspect", "--type", "image", "florin:test"]);
        let whole: Value = serde_json::from_str(&printed.expect("it was built")).expect("JSON");
        whole["Docker"]["config"].clone()
    }

    pub fn root(&self) -> PathBuf {
        self.buildah(&["mount", &self.name])
            .expect("it was built")
            .into()
    }

    /// Makes the folder that is mounted at `/etc/florin`, with this configuration.
    pub fn configure(&self, text: &str) {
        let folder = self.folder.file("etc");
        fs::create_dir_all(&folder).expect("our own folder");
        let file = folder.join("florin.toml");
        write_private(&file, text);
        let owned = std::os::unix::fs::chown(&file, Some(USER), Some(USER));
        owned.expect("this is root");
    }

    pub fn start(&self, words: &Value, listen: SocketAddr) -> Contained {
        let log = fs::File::create(self.folder.file("log")).expect("our own folder");
        let errors = log.try_clone().expect("a file can be shared");
        let mut command = self.run(words, listen);
        let child = command.stdout(log).stderr(errors).process_group(0).spawn();
        Contained(child.expect("buildah can be started"))
    }

    /// Runs words of the image's configuration beside the started program; returns the exit code.
    pub fn run_beside(&self, words: &Value, listen: SocketAddr) -> Option<i32> {
        let ended = self.run(words, listen).output();
        ended.expect("buildah can be started").status.code()
    }

    pub fn printed(&self) -> String {
        fs::read_to_string(self.folder.file("log")).unwrap_or_default()
    }

    fn run(&self, words: &Value, listen: SocketAddr) -> Command {
        let etc = format!("{}:/etc/florin:ro", self.folder.file("etc").display());
        let mut command = self.command();
        command.args(["run", "--isolation", "chroot", "--volume", &etc]);
        // The network is this machine's: ports are free ones.
        command.arg(format!("--env=FLORIN_LISTEN={listen}"));
        command.args([&self.name, "--"]);
        let words = words.as_array().expect("a list of words").iter();
        command.args(words.map(|word| word.as_str().expect("a word")));
        command.stdin(Stdio::null());
        command
    }

    fn command(&self) -> Command {
        let mut command = Command::new("buildah");
        command.args(["--storage-driver", "vfs"]);
        command.arg("--root").arg(self.folder.file("storage"));
        command.arg("--runroot").arg(self.folder.file("run"));
        command
    }

    fn buildah(&self, words: &[&str]) -> Result<String, String> {
        let output = self.command().args(words).output();
        let output = output.expect("`cargo xtask tools` installs buildah");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
        if output.status.success() {
            return Ok(text(&output.stdout));
        }
        let complaint = text(&output.stderr);
        // A machine whose kernel refuses mounts and namespaces has no containers.
        let is_forbidden = complaint.contains("operation not permitted");
        assert!(is_forbidden, "buildah {words:?}: {complaint}");
        Err(complaint)
    }
}

impl Drop for Container {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("what the container printed:\n{}", self.printed());
        }
        let _ = self.buildah(&["umount", &self.name]);
        let _ = self.buildah(&["rm", &self.name]);
    }
}

impl Drop for Contained {
    fn drop(&mut self) {
        // What runs in the container outlives buildah, and is of its group.
        let group = format!("-{}", self.0.id());
        let _ = Command::new("kill").args(["-KILL", "--", &group]).status();
        let _ = self.0.wait();
    }
}
