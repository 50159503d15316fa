# A Homebrew formula of the command line, the daemon and the server.
# `cargo xtask recipes` fills in what stands in capital letters between at signs.
class Cairn < Formula
  desc "End-to-end encrypted folder sync"
  homepage "@URL@"
  url "@ARCHIVE@"
  version "@VERSION@"
  sha256 "@SHA256@"
  license any_of: ["MIT", "Apache-2.0"]

  depends_on "rust" => :build

  def install
    system "cargo", "install", *std_cargo_args(path: "daemon")
    system "cargo", "install", *std_cargo_args(path: "server")
    generate_completions_from_executable(bin/"cairn", "completions", shells: [:bash, :zsh, :fish])
    system bin/"cairn", "man", man1
  end

  service do
    run [opt_bin/"cairn", "daemon"]
    keep_alive crashed: true
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/cairn --version")
    ENV["CAIRN_HOME"] = testpath/"home"
    assert_match "not logged in", shell_output("#{bin}/cairn whoami 2>&1", 3)
    assert_match version.to_s, shell_output("#{bin}/cairn-server --version")
  end
end
