"""The page's own scripts: what can be tested without a page is tested in Node, beside the scripts."""

import subprocess


def test_the_scripts_of_the_page_pass_their_own_tests(root, node):
    done = subprocess.run(
        [node, "--test"], cwd=root / "book/live", capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
