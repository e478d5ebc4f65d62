"""What `lull doctor` says about RDMA over UCX."""

from lull.doctor.openshmem import rdma_over


def test_auto_uses_adapters_whose_use_ucx_reports() -> None:
    assert rdma_over((1, 14)).startswith("LULL_RDMA=auto uses them")
    assert rdma_over((2, 0)) == rdma_over((1, 14))


def test_older_versions_of_ucx_need_the_user_s_word() -> None:
    assert rdma_over((1, 13)) == "UCX 1.13 does not report what it uses, so RDMA needs LULL_RDMA=on"
